/** The schema of a `ToolSummary`, for the OpenAPI document. */
export const TOOL_SUMMARY: Readonly<Record<string, unknown>> = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    description: { type: 'string', nullable: true },
    parameters: { type: 'object', nullable: true, description: 'JSON Schema' },
    needsApproval: { type: 'boolean', description: 'Its calls may wait for the approval of a person' },
  },
  required: ['name', 'description', 'parameters', 'needsApproval'],
}
