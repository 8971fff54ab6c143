import * as z from 'zod';

const text = z.string().min(1).max(32_768);

/** Tokens of a server, as an authorization server gave them. */
const tokensSchema = z.looseObject({
  access_token: text,
  token_type: z.string().max(100),
  refresh_token: text.optional(),
  scope: z.string().max(8192).optional(),
  id_token: z.string().optional(),
});

/** What the vault keeps of a server that was signed in to: whom it is for, who vouches, who we are there, and the tokens. */
const recordSchema = z.object({
  /** Address of the MCP server: tokens go to no other one. */
  serverUrl: text,
  authorizationServer: text,
  metadata: z.looseObject({ issuer: text, authorization_endpoint: text, token_endpoint: text }),
  /** The resource that the tokens are for. */
  resource: text.optional(),
  client: z.looseObject({ client_id: text, client_secret: z.string().optional() }),
  /** The one that the client was registered with. */
  redirectUri: text,
  tokens: tokensSchema.optional(),
  /** Milliseconds since 1970. */
  issuedAt: z.number().optional(),
  expiresAt: z.number().optional(),
});

export type OAuthRecord = z.output<typeof recordSchema>;
export type OAuthTokens = z.output<typeof tokensSchema>;

/** A record of the vault, if it is one and is of this server. */
export function toRecord(stored: unknown, serverUrl: string): OAuthRecord | undefined {
  const { success, data } = recordSchema.safeParse(stored);
  return success && data.serverUrl === serverUrl ? data : undefined;
}
