/** What a client remembers of its signing in. */

/** An `OAuthClientProvider` of any of the clients. */
export class Memory {
  readonly redirectUrl = 'http://127.0.0.1:9/callback'
  readonly clientMetadata = {
    redirect_uris: [this.redirectUrl],
    client_name: 'test',
    grant_types: ['authorization_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  sentTo: URL | undefined
  // biome-ignore lint/suspicious/noExplicitAny: each client has types of its own for what it keeps.
  #kept = new Map<string, any>()

  readonly clientInformation = () => this.#kept.get('client')
  readonly saveClientInformation = (client: unknown): void => void this.#kept.set('client', client)
  readonly tokens = () => this.#kept.get('tokens')
  readonly saveTokens = (tokens: unknown): void => void this.#kept.set('tokens', tokens)
  readonly codeVerifier = () => this.#kept.get('verifier')
  readonly saveCodeVerifier = (verifier: string): void => void this.#kept.set('verifier', verifier)
  readonly authorizationServerInformation = () => this.#kept.get('server')
  readonly saveAuthorizationServerInformation = (server: unknown): void =>
    void this.#kept.set('server', server)
  readonly discoveryState = () => this.#kept.get('discovery')
  readonly saveDiscoveryState = (state: unknown): void => void this.#kept.set('discovery', state)
  readonly redirectToAuthorization = (url: URL): void => {
    this.sentTo = url
  }
}
