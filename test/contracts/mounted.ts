import type { Handler } from '../../src/index.ts'

/** A fallback that passes a request to the handler of its first path segment, and any other request to `probe`. */
export function mounted(
  mounts: Readonly<Record<string, Handler>>,
  probe: (request: Request) => Response,
): (request: Request) => Response | Promise<Response> {
  return request => {
    const mount = new URL(request.url).pathname.split('/')[1] ?? ''
    return mounts[mount]?.(request) ?? probe(request)
  }
}
