/** The clients. */
export { adk } from './adk.ts'
export { aiSdk } from './ai-sdk.ts'
export { strands } from './strands.ts'
