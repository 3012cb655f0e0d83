// Makes the published manifest: package.json without what only this repository's own tools read. Above all the
// optional Node binary must not reach an application that installs the library.
//   prepack:  node .ci/manifest.ts trim
//   postpack: node .ci/manifest.ts restore
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import process from 'node:process'

const manifest = 'package.json'
// Here, and not in node_modules, because it is the only whole copy while a pack is under way.
const whole = '.ci/package.json.whole'
const toolchain = ['scripts', 'devDependencies', 'optionalDependencies', 'trustedDependencies', 'knip']

function trimmed(text: string): string {
  const entries = Object.entries(JSON.parse(text)).filter(([key]) => !toolchain.includes(key))
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`
}

/** An earlier pack that failed after its prepack has left the trimmed manifest in place: take the whole one. */
function restore(): void {
  if (!existsSync(whole)) return
  if (readFileSync(manifest, 'utf8') !== trimmed(readFileSync(whole, 'utf8'))) {
    throw new Error(`${manifest} was changed while it was trimmed: merge it with ${whole} by hand`)
  }
  renameSync(whole, manifest)
}

function trim(): void {
  restore()
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(whole, text)
  writeFileSync(manifest, trimmed(text))
}

const command = process.argv[2]
if (command === 'trim') trim()
else if (command === 'restore') restore()
else throw new Error('usage: node .ci/manifest.ts trim|restore')
