/** The part of `cloudflare:workers` that is used; the runtime brings the module. */
declare module 'cloudflare:workers' {
  export const env: unknown
  export class DurableObject {
    constructor(state: never, env: never)
    fetch?(request: Request): Promise<Response>
    webSocketMessage?(socket: never, message: string | ArrayBuffer): Promise<void>
    webSocketClose?(socket: never, code: number, reason: string): Promise<void>
    webSocketError?(socket: never): Promise<void>
    alarm?(): Promise<void>
  }
}
