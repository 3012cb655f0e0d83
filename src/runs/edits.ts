/**
 * Arguments that whoever approves a call has edited, checked before the answer counts.
 *
 * @module
 */

import type { Answer } from '../agents/contract.ts'
import { fitOf } from '../agents/misfit.ts'
import type { Tool } from '../agents/tool.ts'
import { misfit } from '../validation.ts'
import type { Target } from './target.ts'
import type { Waiting } from './waiting.ts'

/** Finds who runs something, as `HostSettings.targetOf`. */
type TargetOf = (asked: Waiting['target']) => Target

/**
 * Checks edited arguments by the schemas of the tools that they are for. Throws `invalid_body`, which names the field. Where this process
 * does not know the tool, the run that goes on checks them, and asks again.
 */
export async function checkEdits(
  answers: readonly Answer[],
  { target, requests }: Pick<Waiting, 'target' | 'requests'>,
  targetOf: TargetOf | undefined,
): Promise<void> {
  for (const [index, answer] of answers.entries()) {
    if (!isEdit(answer)) continue
    const { toolName, editable } = requests.find(({ id }) => id === answer.id) ?? {}
    const tool = editable === true ? toolsOf(target, targetOf).get(toolName) : undefined
    const fit = tool && (await fitOf(answer.editedArgs, tool.parameters))
    if (fit && 'misfit' in fit) throw misfit(`answers[${index}].editedArgs`, `does not fit: ${fit.misfit}`)
  }
}

/** Whether any answer has edited arguments. */
export function hasEdits(answers: readonly Answer[]): boolean {
  return answers.some(isEdit)
}

function isEdit(answer: Answer): answer is Answer & { readonly editedArgs: unknown } {
  return 'editedArgs' in answer && answer.editedArgs !== undefined
}

/** The tools of an agent, or of the agents of a team, by name: none of two that have the same. */
function toolsOf(asked: Waiting['target'], targetOf: TargetOf | undefined): Map<string | undefined, Tool> {
  const servable = servableOf(asked, targetOf)
  const found = new Map<string | undefined, Tool>()
  const twice = new Set<string>()
  for (const tool of [servable, ...listOf(servable.members)].flatMap(each => listOf(Object(each).tools))) {
    const { name } = Object(tool) as Tool
    if (found.has(name) && found.get(name) !== tool) twice.add(name)
    found.set(name, tool as Tool)
  }
  for (const name of twice) found.delete(name)
  return found
}

function servableOf(
  asked: Waiting['target'],
  targetOf: TargetOf | undefined,
): { readonly members?: unknown } {
  try {
    return Object(targetOf?.(asked).servable)
  } catch {
    // It is served elsewhere, or no more.
    return {}
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
