/** The part of `cloudflare:workers` that is used. The runtime provides the module. */
declare module 'cloudflare:workers' {
  export const env: unknown
  export function waitUntil(promise: Promise<unknown>): void
  export class DurableObject {
    constructor(state: never, env: never)
    fetch?(request: Request): Promise<Response>
    webSocketMessage?(socket: never, message: string | ArrayBuffer): void | Promise<void>
    webSocketClose?(socket: never, code: number, reason: string): void | Promise<void>
    webSocketError?(socket: never): void | Promise<void>
    alarm?(): Promise<void>
  }
}
