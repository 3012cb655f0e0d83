/** A request that keeps the one whose signal it follows: on Node, the signal of a request that is garbage collected never fires. */
class InPlaceOf extends Request {
  readonly original: Request

  constructor(original: Request, url: string | URL, init: RequestInit) {
    super(url, init)
    this.original = original
  }
}

/** A request at another address and with other headers, in place of one that it follows. Default: with its body. */
export function inPlaceOf(
  original: Request,
  url: string | URL,
  headers: Headers,
  body: BodyInit | null = original.body,
): Request {
  const { method, signal } = original
  // A body that is a stream needs `duplex` (Fetch, section 5.4). The platform's types have no such member.
  const init: RequestInit & { duplex?: 'half' } = {
    ...{ method, headers, signal },
    ...(body !== null && { body, duplex: 'half' }),
  }
  return new InPlaceOf(original, url, init)
}
