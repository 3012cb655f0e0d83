import { type NextRequest, NextResponse } from 'next/server'

/**
 * Gives each browser that opens the page a name of its own, which no script can read. A real app has its login in this place, and
 * refuses everyone who is not signed in.
 */
export function proxy(request: NextRequest): NextResponse {
  const response = NextResponse.next()
  if (!request.cookies.has('visitor')) {
    const secure = request.nextUrl.protocol === 'https:'
    const maxAge = 365 * 24 * 60 * 60
    response.cookies.set('visitor', crypto.randomUUID(), { httpOnly: true, sameSite: 'lax', secure, maxAge })
  }
  return response
}

export const config = { matcher: '/' }
