import process from 'node:process'
import { verifyWebhook } from 'servable'
import { serve } from 'servable/node'

async function receive(request: Request): Promise<Response> {
  // Throws if somebody else sent it.
  const { payload } = await verifyWebhook(request, process.env.WEBHOOK_SECRET ?? '')
  console.log(JSON.stringify(payload))
  return new Response(null, { status: 204 })
}

console.log(`listening ${(await serve(receive, { port: 4000 })).url}`)
