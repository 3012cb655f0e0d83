/** The head of a list: the titles of its columns, each with its class. A column of shapes or acts has a title for screen readers alone. */
export function Heads({ of }: { of: readonly (readonly [title: string, name?: string | undefined])[] }) {
  return (
    <thead>
      <tr>
        {of.map(([title, name]) => (
          <th key={title} scope="col" class={name}>
            {name === 'shape' || name === 'acts' ? <span class="unseen">{title}</span> : title}
          </th>
        ))}
      </tr>
    </thead>
  )
}
