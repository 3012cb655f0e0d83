/** What is wrong with the fields of a form. */
import type { Issue } from '../../src/base/errors.ts'

/** What is wrong, by the name of a field. `''` has what belongs to no field. */
export type Wrong = Readonly<Record<string, string>>

/** What the issues of an error say of fields. `has` tells whether the form has a field of that name. */
export function wrongIn(issues: readonly Issue[], has: (name: string) => boolean): Wrong {
  const wrong: Record<string, string> = {}
  for (const { path, message } of issues) {
    const name = nameOf(path, has)
    const text = sentenceOf(message, name === '' && path !== '' ? `\`${path}\`` : 'This')
    wrong[name] = wrong[name] === undefined ? text : `${wrong[name]} ${text}`
  }
  return wrong
}

/** The field that a path is about, or is inside of. Empty if the form has none. */
function nameOf(path: string, has: (name: string) => boolean): string {
  for (let name = path; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    if (has(name)) return name
  }
  return ''
}

/** A message of the service as a sentence about a field, which `about` names. */
function sentenceOf(message: string, about: string): string {
  const text = message.replace(/^(`[^`]*` )?(?=[a-z])/, `${about} `)
  return /[.!?。！？]$/.test(text) ? text : `${text}.`
}
