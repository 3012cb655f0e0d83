import type { WorkerFetch, WorkerScheduled } from '../../../src/runtimes/cloudflare.ts'

/** A Worker whose clock is `/scheduled`: none of Cloudflare's rings here. */
export const ringing =
  (serve: WorkerFetch, ring: WorkerScheduled): WorkerFetch =>
  async (request, bindings, context) => {
    if (new URL(request.url).pathname !== '/scheduled') return serve(request, bindings, context)
    await ring({}, bindings, context)
    return new Response('rung')
  }
