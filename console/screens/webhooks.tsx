import { ofAdmin } from '../admin/token.ts'
import { TokenForm } from '../admin/token-form.tsx'
import { Webhooks as List } from '../admin/webhooks.tsx'
import { Notice } from '../parts/notice.tsx'
import { config } from '../service.ts'

const ABSENT =
  'The service sends no webhooks. Add the plugin `webhooks()` of `servable/webhooks`, and `admin`.'

/** Webhooks and their deliveries, for administrators. */
export function Webhooks() {
  const { plugins } = config.value
  const isOn = plugins.includes('webhooks') && plugins.includes('admin')
  return (
    <>
      <h1 tabIndex={-1}>Webhooks</h1>
      {!isOn && <Notice>{ABSENT}</Notice>}
      {isOn && !ofAdmin.isOpen('webhooks') && <TokenForm what="Webhooks" label="Administration" />}
      {isOn && ofAdmin.isOpen('webhooks') && <List />}
    </>
  )
}
