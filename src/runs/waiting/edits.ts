/**
 * Checks the arguments that an approver has edited, before the answer counts.
 *
 * @module
 */

import type { Answer } from '../../agents/contract.ts'
import { fitOf } from '../../agents/misfit.ts'
import type { Tool } from '../../agents/tool.ts'
import { misfit } from '../../base/validation.ts'
import type { Soon } from '../../stores/store.ts'
import type { Target } from '../target.ts'
import type { Waiting } from './waiting.ts'

/** Finds the servable of a target, as `HostSettings.targetOf` does. */
type TargetOf = (asked: Waiting['target']) => Target

/**
 * Checks edited arguments against the schemas of their tools. Throws `invalid_body` with the field. If this process does not know
 * the tool, the next run checks them and asks again. `find` returns the waiting run; it is called only if there are edits.
 */
export async function checkEdits(
  answers: readonly Answer[],
  targetOf: TargetOf | undefined,
  find: () => Soon<Waiting | undefined>,
): Promise<void> {
  if (!answers.some(isEdit)) return
  const { target, requests = [] } = (await find()) ?? {}
  for (const [index, answer] of answers.entries()) {
    const request = requests.find(({ id }) => id === answer.id)
    if (!isEdit(answer) || !target || request?.editable !== true) continue
    const tool = toolOf(target, request.toolName, targetOf)
    const fit = tool && (await fitOf(answer.editedArgs, tool.parameters))
    if (fit && 'misfit' in fit) throw misfit(`answers[${index}].editedArgs`, `does not fit: ${fit.misfit}`)
  }
}

function isEdit(answer: Answer): answer is Answer & { readonly editedArgs: unknown } {
  return 'editedArgs' in answer && answer.editedArgs !== undefined
}

/** Finds a tool by name in an agent, or in the agents of a team. Undefined if there is none, or more than one. */
function toolOf(
  target: Waiting['target'],
  name: string | undefined,
  targetOf: TargetOf | undefined,
): Tool | undefined {
  try {
    const servable = targetOf?.(target).servable
    const makers = [servable, ...listOf(Object(servable).members)]
    const tools = makers.flatMap(each => listOf(Object(each).tools) as readonly Tool[])
    const [tool, ...others] = new Set(tools.filter(each => Object(each).name === name))
    return others.length === 0 ? tool : undefined
  } catch {
    // The target is served elsewhere, or no longer.
    return undefined
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
