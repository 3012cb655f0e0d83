/** Reads an A2A card of any version of the protocol. */

/** An address at which the agent answers. */
export interface CardAddress {
  readonly url: string
  /** The transport: `JSONRPC`, `HTTP+JSON`, with the version of the protocol if the card states it. */
  readonly how: string
}

/** The facts of a card. */
export interface CardFacts {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly provider: string | undefined
  /** What the server can do. */
  readonly capabilities: readonly string[]
  readonly skills: readonly { readonly id: string; readonly name: string; readonly description: string }[]
  readonly addresses: readonly CardAddress[]
  /** Names of the security schemes. */
  readonly security: readonly string[]
  readonly signatures: number
}

/** Reads a card. Facts that its version does not have are left out. */
export function factsOf(card: Readonly<Record<string, unknown>>): CardFacts {
  const provider = Object(card.provider)
  const now = listOf(card.supportedInterfaces).map(({ url, protocolBinding, protocolVersion }) => ({
    url: textOf(url),
    how: [protocolBinding, protocolVersion].map(textOf).join(' ').trim(),
  }))
  const old = listOf(card.additionalInterfaces).map(({ url, transport }) => ({
    url: textOf(url),
    how: textOf(transport),
  }))
  return {
    name: textOf(card.name),
    description: textOf(card.description),
    version: textOf(card.version),
    provider: provider.organization && `${textOf(provider.organization)} (${textOf(provider.url)})`,
    capabilities: Object.entries(Object(card.capabilities)).flatMap(([name, has]) =>
      has === true ? [name] : [],
    ),
    skills: listOf(card.skills).map(({ id, name, description }) => ({
      id: textOf(id),
      name: textOf(name),
      description: textOf(description),
    })),
    addresses: now.length > 0 ? now : old,
    security: Object.keys(Object(card.securitySchemes)),
    signatures: listOf(card.signatures).length,
  }
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.map(Object) : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
