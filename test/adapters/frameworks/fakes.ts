/** Agents with the structure of a framework's agents, but without a framework. */

/** A stream of the given items. */
export async function* streaming(items: readonly unknown[]): AsyncGenerator<unknown> {
  yield* items
}

interface Fake {
  readonly [member: string]: unknown
  /** The items of its stream. */
  readonly parts?: readonly unknown[]
}

export function aiAgent({
  parts = [],
  onStream,
  output,
  ...rest
}: Fake & { readonly onStream?: (options: { prompt: unknown; abortSignal: AbortSignal }) => void }): object {
  return {
    version: 'agent-v1',
    ...rest,
    async stream(options: { prompt: unknown; abortSignal: AbortSignal }) {
      onStream?.(options)
      return { fullStream: streaming(parts), output }
    },
  }
}

export function graph({ parts = [], calls, ...rest }: Fake & { readonly calls?: unknown[][] }): object {
  return {
    lg_is_pregel: true,
    ...rest,
    async stream(...args: unknown[]) {
      calls?.push(args)
      return streaming(parts)
    },
  }
}

export function openaiAgent(rest: Fake): object {
  return { handoffs: [], outputType: 'text', asTool() {}, ...rest }
}

export function voltAgent({ parts = [], calls, ...rest }: Fake & { readonly calls?: unknown[][] }): object {
  return {
    generateText() {},
    async streamText(...args: unknown[]) {
      calls?.push(args)
      return { fullStream: streaming(parts) }
    },
    getFullState() {},
    ...rest,
  }
}

export function mastraAgent({ parts = [], calls, ...rest }: Fake & { readonly calls?: unknown[][] }): object {
  return {
    generate() {},
    async stream(...args: unknown[]) {
      calls?.push(args)
      return { fullStream: streaming(parts) }
    },
    getDescription: () => '',
    listTools: async () => ({}),
    ...rest,
  }
}
