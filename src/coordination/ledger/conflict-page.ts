// `conflicts/{date}-{id}.md`: what collided, who kept what, and where the rest is (seed 000 T-4).

/** The page of a conflict, from its event. Values stay within their lines: none can add a section of its own. */
export function conflictPage(payload: Readonly<Record<string, unknown>>, wallMs: number): string {
  const text = (name: string): string => oneLine(payload[name])
  const list = (name: string): string[] => (Array.isArray(payload[name]) ? payload[name].map(oneLine) : [])
  const paths = list('paths')
  return [
    `# Conflict ${text('id')} — ${text('title')}`,
    '',
    `- **Date**: ${new Date(wallMs).toISOString().slice(0, 10)}`,
    `- **Overriding HAID**: ${text('overriding_haid')}`,
    `- **Displaced HAID**: ${text('displaced_haid') || 'unknown'}`,
    `- **Surfaces**: ${list('surfaces')
      .map((surface) => `\`${surface}\``)
      .join(', ')}`,
    '',
    '## Both intents',
    '',
    `- Overriding: ${text('overriding_intent') || 'not stated'}`,
    `- Displaced: ${text('displaced_intent') || 'not stated'}`,
    '',
    '## Resolution',
    '',
    `- Kept: the work of ${text('overriding_haid')}`,
    `- Displaced: the work of ${text('displaced_haid') || 'unknown'}`,
    `- Preserved on branch \`${text('branch')}\`, commit ${text('commit')}${paths.length === 0 ? '; nothing was uncommitted' : ''}`,
    ...paths.map((path) => `  - \`${path}\``),
    '',
    '## Recovery path',
    '',
    `\`git diff HEAD...${text('branch')}\` shows what was displaced; \`git checkout ${text('branch')} -- <path>\` brings a path back.`,
    '',
  ].join('\n')
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim() : ''
}
