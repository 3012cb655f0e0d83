/** Snippets that change a file: what their second line `// …` means. */

/** A file with the parts of a fence in place of those of the same name, or at its end. */
export function merged(file: string, changes: string): string {
  const all = [...partsOf(file)]
  const placeOf = (name: string) => all.findIndex(([known]) => known === name)
  // What is new stands above what comes after it in the fence, since that may need it.
  let next = all.length
  for (const [name, code] of [...partsOf(changes)].toReversed()) {
    const place = placeOf(name)
    if (place === -1) all.splice(next, 0, [name, code])
    else all[place] = [name, code]
    if (place !== -1) next = place
  }
  const isImport = ([name]: readonly [string, string]) => name.startsWith('import ')
  const imports = all.filter(isImport).toSorted(([one], [other]) => (rank(one) < rank(other) ? -1 : 1))
  const others = all.filter(part => !isImport(part))
  const textOf = ([, code]: readonly [string, string]) => code
  return [imports.map(textOf).join('\n'), ...others.map(textOf)].filter(Boolean).join('\n\n')
}

/** Node's modules come first, then packages, then files, those of folders above before the others. */
function rank(name: string): string {
  const place = [/^import node:/, /^import [^.]/, /^import \.\./, /^/].findIndex(each => each.test(name))
  return `${place} ${name}`
}

/** The top-level statements of a file by what they declare or import. */
function partsOf(file: string): Map<string, string> {
  const [, imports = '', rest = ''] = /^((?:import [^']*'[^']+'\n)*)([\s\S]*)$/.exec(`${file.trim()}\n`) ?? []
  const parts = new Map<string, string>()
  for (const line of imports.trim().split(/\n(?=import )/))
    if (line !== '') parts.set(`import ${/'([^']+)'/.exec(line)?.[1] ?? line}`, line)
  for (const code of rest.trim().split(/\n\n(?=[^\s})\]])/)) {
    if (code === '') continue
    const declared =
      /^(?:export )?(?:default|(?:async )?(?:const|function|interface|type|class)) ([\w{]+)/m.exec(code)
    parts.set(declared?.[1] ?? code, code)
  }
  return parts
}
