/** The least client that attaches: a subclass of the stock one. */
import { HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client'

export class AttachedAgent extends HttpAgent {
  protected override connect(input: Parameters<HttpAgent['run']>[0]) {
    this.abortController = new AbortController()
    const { signal } = this.abortController
    const query = new URLSearchParams({
      threadId: input.threadId,
      runId: input.runId,
      protocolVersion: '1.0',
    })
    const get = () => this.fetch(`${this.url}?${query}`, { headers: this.headers, signal })
    return transformHttpEventStream(runHttpRequest(get as () => Promise<Response>))
  }
}
