// Figures in the README and in docs/bench.md, from docs/figures.json: what is shown is what a bench has found, and nothing else.

export const KEPT = 'docs/figures.json'

/** Where figures stand between marks, and how many of them. */
export const FIGURE_PAGES = [
  { page: 'README.md', block: chosenBlock },
  { page: 'docs/bench.md', block: wholeBlock },
]

export const MARKS = {
  begin: '<!-- figures: npm run bench && node scripts/figures.mjs --keep -->',
  end: '<!-- /figures -->',
}

/** What a newcomer wants to know, in a newcomer's words: bench, what it compares, with whom. Missed goals are among them. */
const CHOSEN = [
  ['start', 'start and exit', 'node -e 0', '`heimdall --version`, start to end'],
  ['supervisor', 'throughput to one subscriber, warm', 'dtach', 'a session’s output, bytes per second'],
  ['supervisor', 'throughput to one subscriber, warm', 'tmux', 'the same'],
  ['supervisor', 'CPU of the session while it floods, warm', 'tmux', 'the same, processor time'],
  ['supervisor', 'echo of one key, p50, warm', 'dtach', 'a key typed until its echo'],
  ['supervisor', 'echo of one key, p50, warm', 'tmux', 'the same'],
  ['run', 'heimdall run until its command runs', 'node-pty in node', '`heimdall run` until its command runs'],
  ['run', 'heimdall status with 50 agents', 'node -e 0', '`heimdall status` with 50 agents'],
  ['briefing', 'a wave of 3 spawns, uncached', 'verbatim', 'tokens of three briefs'],
  ['briefing', 'a wave of 3 spawns, prompt caching priced in for all', 'verbatim', 'the same, caching priced in'],
  ['coordination', 'heimdall claim check, end to end', 'node -e 0', '`heimdall claim check`, start to end'],
  ['coordination', 'check against live claims', 'among 10', 'a check among 10,000 claims'],
  ['hook', 'a path that the agent holds', 'node -e 0', 'a host’s hook, start to answer'],
  ['shim', '64 calls in flight', 'SDK client + server', 'tool calls per second through the shim'],
  ['shim', '64 calls in flight', 'mcp-proxy', 'the same'],
  ['shim', 'CPU of the proxy, 64 calls in flight', 'SDK client + server', 'the same, processor time'],
  ['shim', 'time added to a call, p50', 'SDK client + server', 'time that the shim adds to a call'],
  ['shim', 'one result of 10 MiB', 'plain Node pipe', 'a result of 10 MiB, bytes per second'],
  ['mcp-http', 'time to the first byte, p50', 'bare Node proxy', 'the shim over HTTP, until the first byte'],
  ['run-index', 'events taken in', 'bare prepared inserts', 'events indexed per second'],
  [
    'dispatch',
    'dispatch to acceptance, p50',
    'bare SendMessage of @a2a-js/sdk',
    'a task until it is accepted, on disk',
  ],
  ['fleet', 'a claim through the engine, near', 'a transaction of eight statements', 'a claim through PostgreSQL'],
  ['fleet', 'a claim through the engine, 20 ms away', 'a transaction of eight statements', 'the same, 20 ms away'],
]

function chosenBlock({ versions, figures }) {
  const rows = CHOSEN.flatMap(([bench, what, peer, words]) =>
    figures
      .filter((row) => row.bench === bench && row.what === what && row.peer === peer)
      .map((row) => ({ ...row, words })),
  )
  return between(
    '| what | against | ours / theirs | goal |',
    '|---|---|--:|---|',
    ...rows.map(({ words, peer, ratio, goal, met }) => `| ${words} | ${peer} | ${ratio} | ${goalOf(goal, met)} |`),
    '',
    `Peers: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version.replace(/^v/, '')}`)
      .join(', ')}.`,
  )
}

function wholeBlock({ figures }) {
  return between(
    '| bench | what | against | ours / theirs | goal | taken |',
    '|---|---|---|--:|---|---|',
    ...figures.map(
      ({ bench, what, peer, ratio, goal, met, load, taken }) =>
        `| ${bench} | ${what} | ${peer} | ${ratio} | ${goalOf(goal, met)} | ${taken}, load ${load} |`,
    ),
  )
}

const between = (...lines) => [MARKS.begin, '', ...lines, '', MARKS.end].join('\n')

const goalOf = (goal, met) => (goal === null ? '–' : `${goal}${met ? '' : ', **missed**'}`)
