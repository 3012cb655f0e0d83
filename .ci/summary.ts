// Reads the JSON reports of the test runners named as arguments and ends with the line `N passed, N failed`.
// A skipped test, a run that is no success and a missing report are failures.
import { readFileSync } from 'node:fs'
import process from 'node:process'

interface Report {
  success: boolean
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { name: string; status: string; message: string; assertionResults: { status: string }[] }[]
}

function failures(file: string, report: Report): number {
  const skipped = report.numPendingTests + report.numTodoTests
  const files = report.testResults.filter(
    result => result.status === 'failed' && !result.assertionResults.some(test => test.status === 'failed'),
  )
  if (skipped > 0) console.error(`${file}: ${skipped} tests were skipped`)
  for (const result of files) console.error(`${result.name}: ${result.message}`)
  const counted = report.numFailedTests + skipped + files.length
  return report.success ? counted : Math.max(counted, 1)
}

let passed = 0
let failed = 0
for (const file of process.argv.slice(2)) {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    passed += report.numPassedTests
    failed += failures(file, report)
  } catch (error) {
    console.error(`${file}: ${error}`)
    failed += 1
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
