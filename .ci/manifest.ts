// Makes the published manifest: package.json without the fields that only this repository's own tools read. Most importantly,
// an application that installs the library must not get the optional Node binary.
//   prepack:  node .ci/manifest.ts trim
//   postpack: node .ci/manifest.ts restore
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import process from 'node:process'

const manifest = 'package.json'
// It is not in node_modules, because during a pack it is the only complete copy.
const whole = '.ci/package.json.whole'
const toolchain = ['scripts', 'devDependencies', 'optionalDependencies', 'trustedDependencies', 'knip']

function trimmed(text: string): string {
  const entries = Object.entries(JSON.parse(text)).filter(([key]) => !toolchain.includes(key))
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`
}

/** If an earlier pack failed after its prepack, the manifest is still trimmed. Then this restores the complete one. */
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
