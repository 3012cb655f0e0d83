import { execFileSync } from 'node:child_process'

/** Builds the page of the console once before the tests: it is not in the repository. */
export function setup(): void {
  execFileSync('node', ['.ci/console.ts'], { stdio: 'inherit' })
}
