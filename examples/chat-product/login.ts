import process from 'node:process'
import { jwtVerify, SignJWT } from 'jose'
import { type Middleware, ServableError } from 'servable'

const secret = new TextEncoder().encode(process.env.LOGIN_SECRET)
if (secret.length < 32) throw new Error('LOGIN_SECRET needs 32 characters or more')

/** Your table of users takes its place. It has a slow hash of each password. */
const PASSWORDS = new Map(Object.entries({ ada: 'lovelace', bob: 'tables' }))

export async function logIn(request: Request): Promise<Response> {
  // A page of another site cannot log somebody in, and nobody sends a large form.
  const isOther = request.headers.get('sec-fetch-site') === 'cross-site'
  const bytes = Number(request.headers.get('content-length') ?? Infinity)
  if (isOther || bytes > 1_000) return new Response('Refused', { status: 403 })
  const form = new URLSearchParams(await request.text())
  const name = form.get('name') ?? ''
  if (!PASSWORDS.has(name) || PASSWORDS.get(name) !== form.get('password'))
    return new Response('Wrong name or password', { status: 401 })
  const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(name).setExpirationTime('7d')
  const cookie = `login=${await token.sign(secret)}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800`
  return new Response(null, { status: 303, headers: { location: '/', 'set-cookie': cookie } })
}

export const identify: Middleware = async (request, context, next) => {
  const [, token = ''] = /(?:^|; )login=([^;]+)/.exec(request.headers.get('cookie') ?? '') ?? []
  const user = await jwtVerify(token, secret, { algorithms: ['HS256'] }).catch(() => undefined)
  if (user?.payload.sub) context.identity = { id: user.payload.sub }
  else if (!context.isOpen) throw new ServableError('unauthorized', 'Log in first')
  return next()
}
