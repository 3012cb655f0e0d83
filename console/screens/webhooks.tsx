import { askAsAdmin } from '../admin/ask.ts'
import { ForAdmins } from '../admin/for-admins.tsx'
import { ForgetToken } from '../admin/token-form.tsx'
import { config } from '../service.ts'
import { Webhooks as List } from '../webhooks/webhooks.tsx'

const ABSENT =
  'This service has no webhooks. To add them, add the plugin `webhooks()` of `servable/webhooks`, and set `admin`.'

/** All webhooks and their deliveries, for administrators. */
export function Webhooks() {
  const { plugins } = config.value
  const isThere = plugins.includes('webhooks') && plugins.includes('admin')
  return (
    <ForAdmins title="Webhooks" right="admin" isThere={isThere} absent={ABSENT}>
      <List
        title="Webhooks"
        what="Addresses that this service tells of runs: those of the service and those of its users."
        base="/admin/webhooks"
        send={askAsAdmin}
        above={<ForgetToken />}
        none="There are no webhooks yet. Add `subscriptions` to `webhooks()`, or set `clients` to let users add theirs."
        absent={ABSENT}
      />
    </ForAdmins>
  )
}
