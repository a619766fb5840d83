// Tokens that show by themselves who has issued them.

interface Issued {
  /** How it begins: alternatives of letters that stand there as they are. */
  readonly begins: readonly string[]
  /** What follows, as an expression. */
  readonly rest: string
  /** May stand inside a word; most tokens begin one. */
  readonly isAnywhere?: true
}

const WORD = '[A-Za-z0-9_-]'

/** No part of `rest` may go over the same text again and again: the text comes from agents and servers. */
export const ISSUERS: readonly Issued[] = [
  // OpenAI, Anthropic and others: sk-…, sk-proj-…, sk-ant-….
  { begins: ['sk-'], rest: `${WORD}{6,}` },
  {
    begins: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],

    rest: '[A-Za-z0-9]{6,}',
  },
  { begins: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], rest: '[A-Za-z0-9]{6,}' },
  { begins: ['github_pat_'], rest: '[A-Za-z0-9_]{10,}' },
  { begins: ['glpat-', 'gldt-', 'glrt-', 'glptt-'], rest: `${WORD}{10,}` },
  { begins: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'], rest: '[A-Za-z0-9-]{8,}' },
  { begins: ['xapp-'], rest: '[A-Za-z0-9-]{10,}' },
  { begins: ['AKIA', 'ASIA'], rest: '[0-9A-Z]{12,}', isAnywhere: true },
  { begins: ['AIza'], rest: `${WORD}{20,}`, isAnywhere: true },
  { begins: ['GOCSPX-'], rest: `${WORD}{10,}` },
  { begins: ['ya29.'], rest: `${WORD}{6,}` },
  { begins: ['npm_'], rest: '[A-Za-z0-9]{20,}' },
  { begins: ['pypi-'], rest: `${WORD}{16,}` },
  { begins: ['hf_'], rest: '[A-Za-z0-9]{10,}' },
  { begins: ['SG.'], rest: String.raw`${WORD}{6,}(?:\.${WORD}*)?` },
  { begins: ['doo_v1_', 'dop_v1_', 'dor_v1_'], rest: '[A-Za-z0-9]{6,}' },
  { begins: ['dckr_pat_', 'dckr_oat_'], rest: `${WORD}{8,}` },
  { begins: ['hvs.', 'hvb.', 'hvr.'], rest: `${WORD}{8,}` },
  { begins: ['lin_api_', 'lin_oauth_'], rest: '[A-Za-z0-9]{8,}' },
  { begins: ['HRKU-'], rest: `${WORD}{10,}` },
  { begins: ['AGE-SECRET-KEY-', 'age-secret-key-'], rest: '[0-9A-Za-z]{8,}' },
  { begins: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], rest: '[A-Za-z0-9]{8,}' },
  { begins: ['sntrys_', 'sntryu_'], rest: '[A-Za-z0-9_=+/-]{10,}' },
  {
    begins: ['pul-', 'fly0_', 'nfp_', 'figd_', 'ntn_', 'sbp_', 'glsa_'],

    rest: `${WORD}{16,}`,
  },
  // The head of a JSON Web Token stops where another could begin, or a row of heads would be read once from each of them.
  { begins: ['eyJ'], rest: String.raw`(?:(?!eyJ)${WORD}){8,}\.${WORD}{8,}\.${WORD}*`, isAnywhere: true },
  {
    begins: ['-----BEGIN'],

    rest: String.raw`[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\\:,.\s-]*?(?:-----END[A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$|(?=[^A-Za-z0-9+/=\\:,.\s-]))`,
    isAnywhere: true,
  },
]

/** One expression for all, without groups. */
export const ISSUED = ISSUERS.map(
  ({ begins, rest, isAnywhere }) =>
    `${isAnywhere === true ? '' : '(?<![A-Za-z0-9])'}(?:${begins.map(quoted).join('|')})${rest}`,
).join('|')

function quoted(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
