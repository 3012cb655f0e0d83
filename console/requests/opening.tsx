/** The page that a person is to open, by its host, and a button that says that it is done. */
export function Opening({ url, isBusy, take }: { url: string; isBusy: boolean; take: () => void }) {
  const host = URL.canParse(url) && /^https?:/i.test(url) ? new URL(url).host : undefined
  return (
    <p class="actions decide">
      {host !== undefined && (
        <a class="button" href={url} target="_blank" rel="noopener noreferrer">
          Open {host}
        </a>
      )}
      <button type="button" class="main" disabled={isBusy} onClick={take}>
        Done there
      </button>
    </p>
  )
}
