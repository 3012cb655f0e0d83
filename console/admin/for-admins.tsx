import type { ComponentChildren } from 'preact'
import type { Right } from '../../src/http/security/rights.ts'
import { Notice } from '../parts/notice.tsx'
import { ofAdmin } from './token.ts'
import { TokenForm } from './token-form.tsx'

/** A screen for those who have the right, and for administrators with their token. Others see the form for the token. */
export function ForAdmins({
  title,
  right,
  isThere,
  absent,
  children,
}: {
  title: string
  right: Right
  /** Whether the service has it. */
  isThere: boolean
  /** What to do if it has not. */
  absent: string
  children: ComponentChildren
}) {
  if (isThere && ofAdmin.isOpen(right)) return <>{children}</>
  return (
    <div class="page">
      <h1 tabIndex={-1}>{title}</h1>
      {isThere ? <TokenForm /> : <Notice>{absent}</Notice>}
    </div>
  )
}
