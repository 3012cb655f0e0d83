/** The client of this package that attaches. */
export { ServableAgent as AttachedAgent } from '../../../src/protocols/ag-ui-client/index.ts'
