/** The ways in which a remote agent is reached: whose server it is, and what its card says. */

/** One way. */
export interface Way {
  readonly of: 'servable' | 'reference'
  readonly version: '1.0' | '0.3' | '0.2'
  readonly binding: 'JSONRPC' | 'HTTP+JSON'
  readonly streaming: boolean
}

const way = (
  of: Way['of'],
  version: Way['version'],
  binding: Way['binding'] = 'JSONRPC',
  streaming = true,
): Way => ({ of, version, binding, streaming })

/** By the names of the agents. */
export const WAYS: Readonly<Record<string, Way>> = {
  'servable-10': way('servable', '1.0'),
  'servable-10-rest': way('servable', '1.0', 'HTTP+JSON'),
  'servable-10-quiet': way('servable', '1.0', 'JSONRPC', false),
  'servable-03': way('servable', '0.3'),
  'servable-03-rest': way('servable', '0.3', 'HTTP+JSON'),
  'servable-02': way('servable', '0.2'),
  'reference-10': way('reference', '1.0'),
  'reference-10-rest': way('reference', '1.0', 'HTTP+JSON'),
  'reference-10-quiet': way('reference', '1.0', 'JSONRPC', false),
  'reference-03': way('reference', '0.3'),
  'reference-03-quiet': way('reference', '0.3', 'JSONRPC', false),
}

/** Those that differ in what a runtime sees of them. */
export const FEW: readonly string[] = ['servable-10', 'servable-03-rest', 'reference-10-quiet']
