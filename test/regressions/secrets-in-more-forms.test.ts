// Secrets that came through in forms that people and programs use every day, and texts that must stay readable (seed 004 §4.1).
import { expect, test } from 'vitest'
import { LineBytes } from '../../src/events/line-bytes.ts'
import { createRedact } from '../../src/events/redact.ts'
import { REDACTED } from '../../src/events/secret-hint.ts'
import { scaled } from '../support/scale.ts'

const redact = createRedact()

/** As an event shows it: only what the glance suspects is looked at. */
function shown(text: string): string {
  const buffer = Buffer.from(text)
  return new LineBytes().escaped({ buffer, from: 0, to: buffer.length }) ? text : redact(text)
}

const basic = Buffer.from('ana:hunter').toString('base64')
const LONG = 'hunter0123456789ABCDEFhunter'

/** Each holds `hunter`, in the clear or as base64. */
const FORMS: readonly string[] = [
  `AUTHORIZATION: basic ${basic}`,
  `authorization=Basic ${basic}`,
  `curl -H 'authorization: Basic ${basic}' https://example.test`,
  `proxied with Basic ${basic} as before`,
  'Authorization: Digest username="ana", realm="x", nonce="abc", uri="/", response="hunter29fae49393a05397450978507c4ef1"',
  'password2: hunter',
  'password_hash = hunter$2b$10$abc',
  '{"password2":"hunter","n":1}',
  '{"password_hash":"hunter"}',
  'password = a hunter c',
  'password = "a hunter c"',
  "Password: 'a hunter c'",
  'DB_PASSWORD=hunter two',
  'user=ana password=hunter host=db',
  '{"name":"DB_PASSWORD","value":"hunter"}',
  '{"value":"hunter","name":"DB_PASSWORD"}',
  '{"env":[{"name":"HOME","value":"/h"},{"name":"API_TOKEN","value":"hunter"}]}',
  '{"headers":[{"key":"X-Api-Key","value":["hunter"]}]}',
  `["Authorization","Basic ${basic}"]`,
  `{"headers":[["Accept","*/*"],["Cookie","sid=hunter"]]}`,
  '{"rawHeaders":["Host","x","Authorization","hunter two","Accept","*/*"]}',
  'mysql -uroot -phunter app',
  'mysqldump --host db -phunter app',
  'sshpass -p hunter ssh ana@host',
  "sshpass -p'hunter' ssh ana@host",
  '{"args":["/usr/bin/mysql","-uroot","-phunter"]}',
  '{"args":["sshpass","-p","hunter","ssh","x"]}',
  'redis-cli -h db -a hunter ping',
  'machine example.test login ana password hunter',
  'machine example.test\n  login ana\n  password hunter\n',
  '<password>hunter</password>',
  '<cfg:dbPassword type="text">a hunter b</cfg:dbPassword>',
  'https://example.test/cb?access_token=hunter&x=1',
  'https://example.test/cb?x=1&token=hunter#top',
  'https://ana:hunter@example.test/x',
  `https://${LONG}@example.test/x.git`,
  'DefaultEndpointsProtocol=https;AccountName=x;AccountKey=hunter0123==;EndpointSuffix=core.windows.net',
  'https://x.blob.core.windows.net/c?sv=2022&sp=r&sig=hunter0123%3D',
  'https://bucket.test/o?X-Amz-Signature=hunter0123&x=1',
  'https://hooks.slack.com/services/T000/B000/hunter0123',
  'https://discord.com/api/webhooks/123/hunter0123',
  ...[
    'pypi-',
    'dckr_pat_',
    'hvs.',
    'lin_api_',
    'HRKU-',
    'glpat-',
    'npm_',
    'xoxb-',
    'xoxp-',
    'sk-ant-',
    'sk-proj-',
    'shpat_',
    'SG.',
    'AIza',
    'ya29.',
    'GOCSPX-',
    'ghp_',
    'gho_',
    'github_pat_',
    'hf_',
    'sk_live_',
    'rk_test_',
    'dop_v1_',
    'whsec_',
  ].map((begin) => `see ${begin}${LONG} for it`),
  'AGE-SECRET-KEY-1HUNTER0123456789',
  'eyJhbGciOiJIUzI1.eyJzdWIiOiIx.hunter-1',
  '-----BEGIN OPENSSH PRIVATE KEY-----\nhunter+/=\n-----END OPENSSH PRIVATE KEY-----',
  '-----BEGIN RSA PRIVATE KEY-----\\nhunter',
  ...[
    'tokens',
    'secretValue',
    'token_value',
    'bearer',
    'jwt',
    'passcode',
    'otp',
    'pin',
    'signing_key',
    'signingKey',
    'encryption_key',
    'ssh_key',
    'connection_string',
    'connectionString',
    'session_id',
    'sessionId',
    'client_secret',
    'DB_PASS',
    'oldPassword',
    'password_confirmation',
    'apiKeys',
    'X-Auth-Token',
    'accountKey',
    'pass\u200bword',
    'pass\\u200bword',
  ].flatMap((key) => [`{"${key}":"hunter"}`, `{"a":{"${key}":["x","hunter"]}}`]),
  'pass\u200bword: hunter',
  'pin=hunter7',
]

test.each(FORMS)('taken out: %s', (text) => {
  for (const form of [text, JSON.stringify({ text }), JSON.stringify(JSON.stringify({ text }))]) {
    const out = shown(form)
    expect(out).toContain(REDACTED)
    expect(out).not.toMatch(/hunter|HUNTER/)
    expect(out).not.toContain(basic)
  }
})

/** Nothing in here is a secret. */
const READABLE: readonly string[] = [
  'const token = await getToken(request)',
  'function login(user: string, password: string): Promise<Session> {',
  'export const tokens: Token[] = tokenize(source)',
  'const secret = process.env.CLIENT_SECRET',
  'password: z.string().min(8),',
  'this.token = options.token',
  'if (token === undefined) return next(token)',
  'const hash = token => sha256(token)',
  'PASSWORD=${DB_PASSWORD}',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main)',
  'id: 123e4567-e89b-42d3-a456-426614174000',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '/home/ana/src/tokenizer/spinner.test.ts',
  'max_tokens: 4096',
  '{"max_tokens":4096,"token_count":12,"prompt_tokens":7,"tokens":[1,2]}',
  '{"usage":{"input_tokens":10,"output_tokens":20,"total_tokens":30},"tokens":30}',
  '{"pinned":true,"spinner":"dots","mapping":"x","bypass":"a b","author":"ana","keyboard":"de"}',
  '{"secretName":"my-secret","password_length":12,"token_type":"Bearer","access_key_id_count":1,"token_url":"https://x.test/t"}',
  '{"name":"HOME","value":"/home/ana"}',
  '{"required":["username","password"]}',
  '{"description":"rotate the password every week","key":"value","primary_key":"id"}',
  'disk-usage-report task-runner-config risk-free-rates',
  'git log --author ana --oneline',
  'docker run -p 8080:80 -u 1000 nginx',
  'ssh -p 2222 ana@example.test',
  'mkdir -p src/deep && cp -p a b',
  'a basic understanding of the digest, in the session of the keynote',
  'https://example.test/search?q=signature&page=2',
  'git@github.com:ana/x.git and ssh://git@github.com/ana/x.git',
  '<token-list count="3">three</token-list>',
]

test.each(READABLE)('readable: %s', (text) => {
  for (const form of [text, JSON.stringify({ text })]) expect(redact(form)).toBe(form)
})

// As in the test of the other forms: whatever is read again and again would take minutes, and its time-out.
const ROW_CHARS = scaled(1 << 19, 1 << 20)

test.each([
  '["token","',
  '{"name":"token","value":"',
  '{"value":[',
  'password: ',
  'password=a b ',
  '"cookie: x" ',
  'cookie: ',
  '<password>',
  '<password>a',
  ' -p',
  'mysql -p',
  'Digest response=',
  'login a password ',
  '?sig=',
  '--token ',
  'basic ',
  '://a',
  '{',
  'a_',
  'token:[',
])('a row of %j is read in one go', (piece) => {
  const text = piece.repeat(Math.ceil(ROW_CHARS / piece.length))
  expect(redact(text).length).toBeLessThanOrEqual(3 * text.length)
})
