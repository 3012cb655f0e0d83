import type { ComponentChildren } from 'preact'

/** A section of a page with its heading, and what stands beside the heading. */
export function Section({
  title,
  aside,
  children,
  id,
}: {
  title: string
  aside?: ComponentChildren
  children: ComponentChildren
  id: string
}) {
  return (
    <section class="sec" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

/** What stands where data will be, if it takes long enough to be seen. */
export function Loading() {
  return (
    <div class="bones" role="status" aria-busy="true">
      <span class="unseen">Loading…</span>
      <i />
      <i />
      <i />
    </div>
  )
}
