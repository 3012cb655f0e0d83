/** What a release writes. `test/wide/publish.test.ts` rehearses a whole one. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FILES, withHeading, withVersion } from '../../.ci/release.ts'
import { root } from '../runtimes/process.ts'

const log = (entries: string) => `# Changelog\n\n## Unreleased\n${entries}\n## 0.1.0 - 2026-01-01\n\n- Old\n`

it('gives new entries a heading', () => {
  expect(withHeading(log('\n### Added\n\n- New\n'), '0.2.0', '2026-02-02')).toBe(
    log('\n## 0.2.0 - 2026-02-02\n\n### Added\n\n- New\n'),
  )
  expect(withHeading('# C\n\n## Unreleased\n\n- First\n', '0.1.0', '2026-02-02')).toBe(
    '# C\n\n## Unreleased\n\n## 0.1.0 - 2026-02-02\n\n- First\n',
  )
})

it.each(['', '\n', '\n### Added\n', '\nWords\n'])('refuses a changelog without entries: %j', entries => {
  expect(() => withHeading(log(entries), '0.2.0', '2026-02-02')).toThrow('has no entries')
})

it('writes a version where it is that of servable, and nowhere else', () => {
  const text = `{ "version": "0.1.0", "servable": "^0.1.0", "other": "0.1.0", "x": "10.1.0" } servable 0.1.0-beta, servable 0.1.0.`
  expect(withVersion(text, '0.1.0', '0.2.0')).toBe(
    `{ "version": "0.2.0", "servable": "^0.2.0", "other": "0.1.0", "x": "10.1.0" } servable 0.1.0-beta, servable 0.2.0.`,
  )
})

it('has each file with the version in its list', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const files = globSync(FILES, { cwd: root }).filter(file => !file.startsWith('examples/next/'))
  expect(files.length).toBeGreaterThan(7)
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8')
    expect(withVersion(text, version, '9.9.9'), file).toContain('9.9.9')
  }
})
