/** The client that attaches, over the copy of `@ag-ui/client` in this folder. */
export { ServableAgent } from '../../../src/protocols/ag-ui-client/index.ts'
