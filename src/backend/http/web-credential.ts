import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { PAGE_HEADER } from '../../core/pages.ts';
import { WEB_DAYS } from '../auth/sign-in.ts';
import type { HttpEnv } from './http-env.ts';

/**
 * The app's token is never whole on either side of the browser. A cookie carries its first half: scripts cannot read it, yet
 * browsers send it to every port of this host. The page keeps the second half, by its origin, and sends it in a header that
 * no other page may set. So a stolen half signs nobody in, and a request forged elsewhere carries one half at most.
 */
const HALF = /^[\x21-\x7e]{8,200}$/;

type Ctx = Context<HttpEnv>;

/** Backends of one host share its cookies, so each has its own name. */
const cookieName = (c: Ctx): string => `kaiwu_${c.env.incoming.socket.localPort ?? 0}`;

const attributes = (secure: boolean) =>
  ({ path: '/v1', httpOnly: true, sameSite: 'Strict', secure }) as const;

/** The `Authorization` header of a request, or what stands for it in the app's. */
export function toCredential(c: Ctx): string | undefined {
  const given = c.req.header('authorization');
  const pageHalf = c.req.header(PAGE_HEADER);
  if (given !== undefined || pageHalf === undefined) return given;
  const cookieHalf = getCookie(c, cookieName(c));
  if (cookieHalf === undefined || !HALF.test(cookieHalf) || !HALF.test(pageHalf)) return undefined;
  return `Bearer ${cookieHalf}${pageHalf}`;
}

/** Puts one half of a token into the cookie. @returns the half that the page keeps */
export function splitToken(c: Ctx, token: string, secure: boolean): string {
  const middle = Math.ceil(token.length / 2);
  setCookie(c, cookieName(c), token.slice(0, middle), { ...attributes(secure), maxAge: WEB_DAYS * 86_400 });
  return token.slice(middle);
}

export function forgetCookie(c: Ctx, secure: boolean): void {
  deleteCookie(c, cookieName(c), attributes(secure));
}
