/** A tool as lists tell of it (`ToolSummary`), for the OpenAPI document. */
export const TOOL_SUMMARY: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    description: { type: 'string', nullable: true },
    parameters: { type: 'object', nullable: true, description: 'JSON Schema' },
  },
  required: ['name', 'description', 'parameters'],
}
