// Ends with the line `N passed, N failed`, over all test runners.
//   node .ci/summary.ts <JSON report>=<exit code of its runner>…
// A skipped test is a failure, and so is a missing report. If a runner fails for another reason than its tests (an unhandled
// error, coverage below its threshold), that counts as one failure. A test that passed at its second try is named, with why the
// first one failed; more than 10 of them are failures.
import { readFileSync } from 'node:fs'
import process from 'node:process'

interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; message: string; assertionResults: TestResult[] }[]
}

interface TestResult {
  status: string
  fullName: string
  /** Of each try that failed. */
  failureMessages?: string[]
}

const MAX_SECOND_TRIES = 10

/** How many tests passed at their second try, if those are too many. */
function secondTries({ testResults }: Report): number {
  const found = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status, failureMessages = [] }) => status === 'passed' && failureMessages.length > 0)
      .map(
        ({ fullName, failureMessages = [] }) => `${name}: ${fullName}: ${failureMessages[0]?.split('\n')[0]}`,
      ),
  )
  for (const test of found) console.error(`passed at the second try: ${test}`)
  return found.length > MAX_SECOND_TRIES ? found.length : 0
}

function failures(file: string, report: Report, exitCode: string): number {
  const skipped = report.numPendingTests + report.numTodoTests
  if (skipped > 0) console.error(`${file}: ${skipped} tests were skipped`)
  const broken = report.testResults.filter(
    result => result.status === 'failed' && !result.assertionResults.some(test => test.status === 'failed'),
  )
  for (const result of broken) console.error(`${result.name}: ${result.message}`)
  const counted = report.numFailedTests + skipped + broken.length + secondTries(report)
  if (counted > 0 || exitCode === '0') return counted
  console.error(`${file}: the runner failed (${exitCode}) beside its tests: see its output`)
  return 1
}

let passed = 0
let failed = 0
for (const argument of process.argv.slice(2)) {
  const [file = '', exitCode = ''] = argument.split('=')
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    passed += report.numPassedTests
    failed += failures(file, report, exitCode)
  } catch (error) {
    console.error(`${file}: ${error}`)
    failed += 1
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
