/** The part of `cloudflare:workers` that is used; the runtime brings the module. */
declare module 'cloudflare:workers' {
  export const env: unknown
  export class DurableObject {
    constructor(state: never, env: never)
    fetch?(request: Request): Promise<Response>
    alarm?(): Promise<void>
  }
}
