// The policy of the shim's bench: ten rules of all kinds that let everything pass.

const rule = (rule_id: string, kind: string, match: object, effect: object): object => ({
  rule_id,
  kind,
  enabled: true,
  severity: 'info',
  match,
  effect,
})
const allow = { action: 'ALLOW', reason_code: 'OK', message: 'fine' }
const block = { action: 'BLOCK', reason_code: 'NO', message: 'no' }
export const POLICY = {
  policy_id: 'bench',
  version: '1',
  mode: 'guardrails',
  defaults: { decision_on_error: 'BLOCK' },
  selectors: {},
  rules: [
    rule(
      'tag-writes',
      'tag',
      { tool_name: { glob: ['write_*', 'edit_*'] } },
      { tag: { add_risk_class: ['write_like'] } },
    ),
    rule('tag-net', 'tag', { tool_name: { regex: ['^(fetch|http)_'] } }, { tag: { add_risk_class: ['network_like'] } }),
    rule('no-delete', 'deny', { tool_name: { glob: ['delete_*'] } }, block),
    rule('no-etc', 'deny', { args: { key_in: { path: ['/etc/passwd', '/etc/shadow'] } } }, block),
    rule('no-net', 'deny', { risk_class: ['network_like'] }, block),
    rule('all', 'allow', { server_name: { regex: ['.*'] } }, allow),
    rule('calls', 'budget', {}, { budget: { scope: 'run', limit_calls: 1_000_000_000, on_exceed: 'BLOCK' } }),
    rule(
      'cost',
      'budget',
      { risk_class: ['write_like'] },
      { budget: { scope: 'tool', limit_cost_units: 1_000_000_000, on_exceed: 'BLOCK' } },
    ),
    rule(
      'rate',
      'rate_limit',
      {},
      {
        rate_limit: {
          scope: 'run',
          capacity: 1_000_000_000,
          refill_tokens: 1_000_000,
          refill_period_ms: 10,
          on_limit: 'THROTTLE',
          backoff_ms: 100,
        },
      },
    ),
    rule(
      'loop',
      'breaker',
      {},
      { breaker: { scope: 'server_tool', repeat_threshold: 1_000, repeat_window_ms: 1_000, on_trip: 'BLOCK' } },
    ),
  ],
}
