import type { Handler } from '../../src/index.ts'

/** A fallback that gives a request to the handler mounted at its first segment, and any other to `probe`. */
export function mounted(
  mounts: Readonly<Record<string, Handler>>,
  probe: (request: Request) => Response,
): (request: Request) => Response | Promise<Response> {
  return request => {
    const mount = new URL(request.url).pathname.split('/')[1] ?? ''
    return mounts[mount]?.(request) ?? probe(request)
  }
}
