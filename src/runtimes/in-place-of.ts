/** A request that keeps the one whose signal it follows: on Node, the signal of a request that is garbage collected never fires. */
export class InPlaceOf extends Request {
  readonly original: Request

  constructor(original: Request, url: string | URL, init: RequestInit) {
    super(url, init)
    this.original = original
  }
}
