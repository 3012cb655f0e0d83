/**
 * Whether a browser opens a page (Fetch Metadata). Over plain HTTP these headers are missing, so a request for HTML counts.
 */
export function isNavigation({ headers }: Request): boolean {
  return headers.get('sec-fetch-mode') === 'navigate' || (headers.get('accept') ?? '').includes('text/html')
}
