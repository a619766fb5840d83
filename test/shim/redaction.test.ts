// Redaction of everything that the shim writes (seed 004 §4.1, §6.4).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createRedact, REDACTED } from '../../src/events/redact.ts'
import { scaled } from '../support/scale.ts'
import { bundle, checkBooks, deny, ofType, startShim, tool } from '../support/shim-client.ts'

// One redaction for message, error.data, events and hints.
describe('one redaction', () => {
  /** Secrets in the forms in which agents hand them over; each holds the word hunter, which may come out nowhere. */
  const FORMS: readonly object[] = [
    { pwd: 'hunter-one' },
    { pass: 'hunter two' },
    { env: { DB_PASS: 'hunter', HOME: '/home/ana' } },
    { private_key: 'hunter four' },
    { headers: { Cookie: 'sid=hunter' } },
    { credential: { user: 'ana', values: ['hunter', { deep: 'hunter' }] } },
    { auth: ['hunter'] },
    {
      text: 'key sk_live_hunter0123 and hf_hunter0123456 and ya29.hunter01 and SG.hunter01.hunter and dop_v1_hunter012',
    },
    { command: 'mysql --password hunter' },
    { args: ['--password', 'hunter'] },
    { command: 'curl -u ana:hunter https://example.test' },
    { args: ['-u', 'ana:hunter'] },
    { body: JSON.stringify({ auth: { code: 'hunter' } }) },
    { text: 'dd.api.key=hunter-api' },
    ...[
      'access.key',
      'api key',
      'session.id',
      'signing.key',
      'connection string',
      'ssh key',
      'API/KEY',
      'x.Session.Id',
    ].map((name) => ({ [name]: 'hunter' })),
    { html: '{&quot;password&quot;:&quot;hunter&quot;}' },
    { text: 'p\\u0061ssword\\u003dhunter' },
    { url: 'https%3A%2F%2Fbob%3Ahunter%40h' },
    { url: 'https://h/?user%5Bpassword%5D=hunter' },
    { command: 'java -Dspring.datasource.password=hunter -jar a.jar' },
    { code: 'let password: string = "a" + "hunter"' },
    { yaml: 'secrets:\n  a: hunter\npassword: |\n  hunter\n' },
    { toml: '[secrets]\na = "hunter"\n' },
    { xml: '&lt;entry key="password"&gt;hunter&lt;/entry&gt;' },
    { headers: ['Host', 'x', 'X-Api-Key', 'hunter'] },
    { fields: [{ label: 'Password', text: 'hunter' }] },
  ]

  const POLICY = bundle([
    deny('no-force', tool('push'), {
      action: 'REJECT_WITH_HINT',
      message: 'the token=hunter-in-the-policy is not for you',
      hint: { hint_text: 'log in with password: hunter', suggested_args: { force: false } },
    }),
  ])

  test('secrets in common forms come out nowhere, and a suggestion is never one to send a mark', async () => {
    const shim = startShim({ policy: POLICY })
    const answers = []
    for (const args of FORMS) {
      answers.push(await shim.call('push', { ...args, force: true }))
      await shim.call('echo', args)
    }
    // The same key and value behind escapes, and a tool that is called like a secret.
    shim.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"push","arguments":{"pass\\u0077ord":"h\\u0075nter","t":"\\u0073k-hunter0123"}}}',
    )
    answers.push(await shim.answer(1))
    await shim.call('sk-hunter012345')
    const { events, stderr } = await shim.end()
    // What the server itself sends back goes through as it came; only what we say is looked at.
    expect(JSON.stringify(answers)).not.toContain('hunter')
    expect(stderr).not.toMatch(/hunter|h\\+u0075nter/)
    for (const { error } of answers) {
      const { hint, summary } = error.data.subluminal
      expect(JSON.stringify(hint.suggested_args)).not.toContain('REDACTED')
      expect(hint.suggested_args).toBe(null)
      expect(error.message).toContain(summary)
      expect(error.message).toContain('{"force":false}')
    }
    const [decision] = ofType(events, 'tool_call_decision')
    const [first] = answers
    expect(decision?.['decision'].explain.summary).toBe(first?.['error'].data.subluminal.summary)
    expect(decision?.['decision'].hint).toEqual(first?.['error'].data.subluminal.hint)
    expect(ofType(events, 'hint_issued')[0]?.['hint']).toEqual(first?.['error'].data.subluminal.hint)
    expect(ofType(events, 'tool_call_end')[0]?.['error'].message).toBe(first?.['error'].data.subluminal.summary)
    expect(ofType(events, 'tool_call_start').at(-1)?.['call'].tool_name).toBe('[REDACTED]')
    expect(checkBooks(events)).toEqual([])
  })

  test('arguments without a secret are suggested whole', async () => {
    const shim = startShim({ policy: POLICY })
    const { error } = await shim.call('push', { branch: 'main', force: true })
    expect(error.data.subluminal.hint.suggested_args).toEqual({ branch: 'main', force: false })
    await shim.end()
  })

  test('the record on disk has none of it either', async () => {
    const workload = { labels: { 'api.key': 'hunter' }, note: 'sk-hunter0123', deep: [{ 'access key': 'hunter' }] }
    const env = { SUB_RUN_ID: 'run-1', SUB_WORKLOAD: JSON.stringify(workload), SUB_PRINCIPAL: 'ghp_hunter0123' }
    const shim = startShim({ policy: POLICY, bin: 'heimdall', env })
    for (const args of FORMS) {
      await shim.call('push', { ...args, force: true })
      await shim.call('echo', args)
      await shim.call('fail', args)
    }
    await shim.end()
    const record = readFileSync(join(shim.home, '.local/state/heimdall/runs/run-1/events.jsonl'), 'utf8')
    expect(record).toContain('tool_call_end')
    expect(record).not.toContain('hunter')
  })
})

// Secrets in the forms that people and programs use, and text that must stay readable.
describe('forms of secrets', () => {
  const redact = createRedact()

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
      const out = redact(form)
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
})
