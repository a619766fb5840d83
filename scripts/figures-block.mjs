// The figures of the README, from docs/figures.json: what is shown there is what a bench has found, and nothing else.

export const KEPT = 'docs/figures.json'
export const MARKS = {
  begin: '<!-- figures: npm run bench && node scripts/figures.mjs --keep -->',
  end: '<!-- /figures -->',
}

export function figuresBlock({ versions, figures }) {
  const line = ({ what, peer, ratio, goal, met, load, taken }) =>
    `| ${what} | ${peer} | ${ratio} | ${goal === null ? '–' : `${goal}${met ? '' : ', **missed**'}`} | ${taken}, load ${load} |`
  const peers = Object.entries(versions)
    .map(([name, version]) => `${name} ${version.replace(/^v/, '')}`)
    .join(', ')
  return [
    MARKS.begin,
    '',
    '| what | against | ours / theirs | goal | taken |',
    '|---|---|--:|---|---|',
    // Those without a goal are in docs/bench.md.
    ...figures.filter(({ goal }) => goal !== null).map(line),
    '',
    `Peers: ${peers}.`,
    '',
    MARKS.end,
  ].join('\n')
}
