/**
 * The spans of one run: its own, with those of its tool calls, steps, agents and model calls inside.
 *
 * @module
 */

import { type Attributes, type Context, SpanKind, type SpanOptions, type Tracer } from '@opentelemetry/api'
import type {
  ErrorEvent,
  FinishEvent,
  ModelCallEvent,
  RunEvent,
  StepEvent,
  TraceparentOf,
  Usage,
} from '../../agents/contract.ts'
import type { BegunRun, RunObserver } from '../../runs/observer.ts'
import { clean, cleanJson, inputMessages, OutputText } from './contents.ts'
import {
  ATTR,
  errorType,
  type ModelName,
  modelName,
  providerName,
  type SpanOperation,
} from './conventions.ts'
import type { Measured, Measures } from './measures.ts'
import { type Failure, OpenSpan } from './open-span.ts'
import { linksTo, parentOf, traceparentOf } from './trace-context.ts'

/** Most open spans of a run, besides its own. Above it no span begins. */
const MAX_OPEN = 200

/** Most nested steps that are searched. */
const MAX_DEPTH = 20

/** The shared parts of a plugin's runs. */
export interface Tracing {
  readonly tracer: Tracer
  readonly measures: Measures | undefined
  readonly contents: boolean
  /** Called when a run has ended. */
  readonly onEnd: () => void
}

/** The agent and the container of an event. */
type EventPosition = Pick<RunEvent, 'agent' | 'parentId'>

/** A span to begin. */
interface SpanPlan {
  readonly name: string
  readonly attributes: Attributes
  readonly startTime?: Date
}

/** Traces one run. */
export class RunSpans implements RunObserver {
  readonly traceparent: string | undefined
  readonly #tracing: Tracing
  readonly #run: BegunRun
  readonly #operation: SpanOperation
  readonly #model: ModelName | undefined
  readonly #root: OpenSpan
  readonly #open = new Map<string, OpenSpan>()
  /** The turns of members, by container and agent: open spans. */
  readonly #turns = new Map<string, OpenSpan>()
  readonly #outputText: OutputText | undefined
  readonly #startedAt = new Date()
  /** The time of the last event. */
  #lastAt = this.#startedAt
  #hasAnswered = false
  /** Whether a model call has reported its usage. Then the run's sum is not measured again. */
  #isMeasured = false

  constructor(tracing: Tracing, run: BegunRun) {
    this.#tracing = tracing
    this.#run = run
    const { kind, name, servable, traceparent, continues } = run
    this.#operation = kind === 'workflow' ? 'invoke_workflow' : 'invoke_agent'
    this.#model = modelOf(servable)
    const options = { attributes: this.#attributes(), links: linksTo(continues?.traceparent) }
    this.#root = this.#start({ name: `${this.#operation} ${name}`, ...options }, parentOf(traceparent))
    if (tracing.contents && this.#root.span.isRecording()) {
      this.#outputText = new OutputText()
      this.#root.span.setAttribute(ATTR.inputMessages, inputMessages(run.input, this.#redact))
    }
    this.traceparent = traceparentOf(this.#root.span)
  }

  /** The `traceparent` of a tool call, whose span may begin here, or of a member's turn. */
  readonly traceparentOf: TraceparentOf = (id, toolName) => {
    const open = toolName === undefined ? this.#spanOfPath(id) : this.#beginTool(id, toolName, {})
    return open && traceparentOf(open.span)
  }

  event(event: RunEvent): void {
    this.#take(event)
    this.#lastAt = new Date()
  }

  #take(event: RunEvent): void {
    switch (event.type) {
      case 'text':
        return this.#answer(event, event.text)
      case 'message':
        for (const part of event.parts) if (part.type === 'text') this.#answer(event, part.text)
        return
      case 'thinking':
      case 'tool_call_delta':
        return this.#speak(event)
      case 'tool_call_start':
        this.#speak(event)
        // The client runs it after this run.
        if (event.isClientTool !== true) this.#beginTool(event.toolCall.id, event.toolCall.name, event)
        return
      case 'tool_call_ready':
        return this.#tellContent(event.toolCallId, ATTR.toolArguments, event.args)
      case 'tool_call_end':
        this.#tellContent(event.toolCallId, ATTR.toolResult, event.result)
        return this.#endTool(event, event.error === undefined ? undefined : this.#failureOf(event))
      case 'step':
        return this.#step(event)
      case 'model_call':
        return this.#modelCall(event)
    }
  }

  end(event: FinishEvent | ErrorEvent, durationMs: number): void {
    try {
      for (const key of [...this.#open.keys()].reverse()) this.#end(key)
      if (event.type === 'error') this.#fail(event, durationMs)
      else this.#finish(event, durationMs)
    } finally {
      this.#tracing.onEnd()
    }
  }

  #finish({ finishReason, usage }: FinishEvent, durationMs: number): void {
    this.#root.end({
      ...(usage && tokensOf(usage)),
      [ATTR.finishReasons]: [clean(finishReason, this.#redact)],
      ...this.#output(),
    })
    this.#tracing.measures?.ended(this.#measured, durationMs)
    if (usage === undefined || this.#isMeasured) return
    const { models = [usage] } = usage
    for (const used of models) {
      const model = ('model' in used ? modelName(used.model) : undefined) ?? this.#model
      this.#tracing.measures?.used({ operation: this.#operation, model }, used)
    }
  }

  #fail(event: ErrorEvent, durationMs: number): void {
    this.#root.end({ [ATTR.finishReasons]: ['error'], ...this.#output() }, this.#failureOf(event))
    this.#tracing.measures?.ended({ ...this.#measured, error: errorType(event.code) }, durationMs)
  }

  get #measured(): Measured {
    return {
      operation: this.#operation,
      agent: clean(this.#run.name, this.#redact),
      model: this.#model,
    }
  }

  readonly #redact = (text: string): string => this.#run.redact(text)

  #output(): Attributes {
    return this.#outputText ? { [ATTR.outputMessages]: this.#outputText.message(this.#redact) } : {}
  }

  #attributes(): Attributes {
    const { kind, name, servable, sessionId, runId, continues } = this.#run
    const { version } = servable
    return {
      [ATTR.operation]: this.#operation,
      [ATTR.agentName]: name,
      ...(this.#model && { [ATTR.model]: this.#model.model }),
      ...(sessionId !== undefined && { [ATTR.conversation]: sessionId }),
      [ATTR.kind]: kind,
      ...(typeof version === 'string' && { [ATTR.version]: version }),
      [ATTR.runId]: runId,
      ...(continues?.from && { [ATTR.continues]: continues.from }),
    }
  }

  /** The span of an event: the turn of an agent, a step, a tool call, or the run itself. */
  #parentOf({ agent, parentId }: EventPosition): OpenSpan {
    const container = this.#spanOf(parentId)
    const parent = container ?? this.#root
    if (agent === undefined) return parent
    const key = agentKey(parentId, agent)
    const turn = this.#turns.get(key)
    if (turn !== undefined) return turn
    const known = this.#open.get(key)
    const begun = known ?? this.#begin(key, { ...agentSpan(agent), startTime: this.#lastAt }, parent)
    if (begun === undefined) return parent
    if (known === undefined) container?.inner.push(key)
    // No event marks its end.
    begun.lastAt = new Date()
    return begun
  }

  /** The span with this path, or that of the step that contains it, whose path is a prefix. */
  #spanOfPath(path: string): OpenSpan | undefined {
    let open = this.#spanOf(path)
    for (let depth = 0; open === undefined && depth < MAX_DEPTH && path.includes('/'); depth++) {
      path = path.slice(0, path.lastIndexOf('/'))
      open = this.#spanOf(path)
    }
    return open
  }

  #spanOf(id: string | undefined): OpenSpan | undefined {
    if (id === undefined) return undefined
    return this.#open.get(toolKey(id)) ?? this.#open.get(stepKey(id))
  }

  /** Adds a part of the run's answer. */
  #answer(event: EventPosition, text: string): void {
    this.#outputText?.add(text)
    if (!this.#hasAnswered) this.#tracing.measures?.began(this.#measured, this.#root.durationMs)
    this.#hasAnswered = true
    this.#speak(event)
  }

  /** Records the time of a model's first chunk. */
  #speak(event: EventPosition): void {
    this.#parentOf(event).firstChunkAt ??= performance.now()
  }

  #beginTool(id: string, name: string, event: EventPosition): OpenSpan | undefined {
    const key = toolKey(id)
    const attributes = {
      [ATTR.operation]: 'execute_tool',
      [ATTR.toolName]: name,
      [ATTR.toolCallId]: id,
      [ATTR.toolType]: 'function',
    }
    const known = this.#open.get(key)
    if (known !== undefined) return known
    const begun = this.#begin(key, { name: `execute_tool ${name}`, attributes }, this.#parentOf(event))
    if (begun !== undefined) begun.tool = clean(name, this.#redact)
    return begun
  }

  #endTool(event: EventPosition & { readonly toolCallId: string }, failure: Failure | undefined): void {
    const { toolCallId, agent = this.#run.name } = event
    const key = toolKey(toolCallId)
    const open = this.#open.get(key)
    if (open === undefined) return
    const { tool, durationMs } = open
    this.#end(key, failure)
    const names = { agent: clean(agent, this.#redact), tool }
    const error = failure && errorType(failure.code)
    this.#tracing.measures?.ended({ operation: 'execute_tool', ...names, error }, durationMs)
  }

  #step(event: StepEvent & EventPosition): void {
    const { id, name, status, agent, parentId } = event
    if (id === undefined) return
    if (status === 'progress') return this.#speak({ agent, parentId: id })
    const key = stepKey(id)
    if (status !== 'started') return this.#end(key, status === 'failed' ? this.#failureOf(event) : undefined)
    if (this.#open.has(key)) return
    const isTurn = this.#run.kind === 'team' && agent === undefined
    const plan = isTurn ? agentSpan(name) : { name: `step ${name}`, attributes: { [ATTR.step]: name } }
    const begun = this.#begin(key, plan, this.#parentOf(event))
    if (begun === undefined || !isTurn) return
    // The member's events belong to its turn, even if the turn appears as a tool call of the leader.
    begun.turns.push(agentKey(id, name), agentKey(parentId ?? id, name))
    for (const turn of begun.turns) this.#turns.set(turn, begun)
  }

  #modelCall(event: ModelCallEvent & EventPosition): void {
    const { usage, finishReason, durationMs } = event
    const { measures } = this.#tracing
    const model = modelName(event.model) ?? this.#model
    const parent = this.#parentOf(event)
    const { firstChunkAt } = parent
    parent.firstChunkAt = undefined
    const attributes = {
      [ATTR.operation]: 'chat',
      ...(model && modelAttributes(model)),
      ...(usage && tokensOf(usage)),
      ...(finishReason && { [ATTR.finishReasons]: [finishReason] }),
    }
    const startTime = new Date(Math.max(Date.now() - (durationMs ?? 0), this.#startedAt.getTime()))
    const name = model === undefined ? 'chat' : `chat ${model.model}`
    this.#start({ name, kind: SpanKind.CLIENT, attributes, startTime }, parent.context).end()
    const measured = { operation: 'chat', model } as const
    if (durationMs !== undefined) {
      measures?.ended(measured, durationMs)
      const waitedMs = durationMs - (performance.now() - (firstChunkAt ?? Number.NaN))
      if (waitedMs >= 0) measures?.began(measured, waitedMs)
    }
    if (usage === undefined) return
    parent.use(usage)
    measures?.used(measured, usage)
    this.#isMeasured = true
  }

  #begin(key: string, plan: SpanPlan, parent: OpenSpan): OpenSpan | undefined {
    if (this.#open.size >= MAX_OPEN) return undefined
    const open = this.#start(plan, parent.context)
    this.#open.set(key, open)
    return open
  }

  #start({ name, attributes, ...options }: SpanPlan & SpanOptions, parent: Context): OpenSpan {
    const cleaned = Object.entries(attributes).map(([key, value]) => [
      key,
      typeof value === 'string' ? clean(value, this.#redact) : value,
    ])
    const given = { ...options, attributes: Object.fromEntries(cleaned) as Attributes }
    return new OpenSpan(this.#tracing.tracer.startSpan(clean(name, this.#redact), given, parent), parent)
  }

  #end(key: string, failure?: Failure): void {
    const open = this.#open.get(key)
    if (open === undefined) return
    this.#open.delete(key)
    for (const inner of open.inner) this.#end(inner)
    for (const turn of open.turns) this.#turns.delete(turn)
    open.end({}, failure)
  }

  #tellContent(toolCallId: string, attribute: string, value: unknown): void {
    if (this.#outputText === undefined) return
    const json = cleanJson(value, this.#redact)
    if (json !== undefined) this.#open.get(toolKey(toolCallId))?.span.setAttribute(attribute, json)
  }

  /** A failure. Its text may contain output. */
  #failureOf({
    code,
    error,
  }: {
    readonly code?: string | undefined
    readonly error?: string | undefined
  }): Failure {
    return { code, ...(this.#outputText && error !== undefined && { text: clean(error, this.#redact) }) }
  }
}

const toolKey = (id: string) => `tool ${id}`
const stepKey = (id: string) => `step ${id}`
const agentKey = (parentId: string | undefined, agent: string) => `agent ${JSON.stringify([parentId, agent])}`

function agentSpan(name: string): SpanPlan {
  return {
    name: `invoke_agent ${name}`,
    attributes: { [ATTR.operation]: 'invoke_agent', [ATTR.agentName]: name },
  }
}

function tokensOf({ promptTokens, completionTokens }: Usage): Attributes {
  return { [ATTR.inputTokens]: promptTokens, [ATTR.outputTokens]: completionTokens }
}

function modelAttributes({ provider, model }: ModelName): Attributes {
  return { [ATTR.provider]: provider, [ATTR.model]: model }
}

/** The model of any object, if it has a valid one. */
function modelOf({ model }: BegunRun['servable']): ModelName | undefined {
  const isModel = typeof model?.provider === 'string' && typeof model.id === 'string'
  return isModel ? { provider: providerName(model.provider), model: model.id } : undefined
}
