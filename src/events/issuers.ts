// Tokens that show by themselves who has issued them.

interface Issued {
  /** How it begins: alternatives of letters that stand there as they are. */
  readonly begins: readonly string[]
  /** What follows, as an expression. */
  readonly rest: string
  /** Three letters of each beginning, rare ones: for the glance. */
  readonly glance: string
  /** May stand inside a word; most tokens begin one. */
  readonly isAnywhere?: true
}

const WORD = '[A-Za-z0-9_-]'

/** No part of `rest` may go over the same text again and again: the text comes from agents and servers. */
export const ISSUERS: readonly Issued[] = [
  // OpenAI, Anthropic and others: sk-…, sk-proj-…, sk-ant-….
  { begins: ['sk-'], glance: 'sk-', rest: `${WORD}{6,}` },
  {
    begins: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'],
    glance: 'k_l k_t hse',
    rest: '[A-Za-z0-9]{6,}',
  },
  { begins: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], glance: 'hp_ ho_ hu_ hs_ hr_', rest: '[A-Za-z0-9]{6,}' },
  { begins: ['github_pat_'], glance: 'b_p', rest: '[A-Za-z0-9_]{10,}' },
  { begins: ['glpat-', 'gldt-', 'glrt-', 'glptt-'], glance: 'glp gld glr', rest: `${WORD}{10,}` },
  { begins: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'], glance: 'xox', rest: '[A-Za-z0-9-]{8,}' },
  { begins: ['xapp-'], glance: 'xap', rest: '[A-Za-z0-9-]{10,}' },
  { begins: ['AKIA', 'ASIA'], glance: 'KIA SIA', rest: '[0-9A-Z]{12,}', isAnywhere: true },
  { begins: ['AIza'], glance: 'Iza', rest: `${WORD}{20,}`, isAnywhere: true },
  { begins: ['GOCSPX-'], glance: 'PX-', rest: `${WORD}{10,}` },
  { begins: ['ya29.'], glance: 'a29', rest: `${WORD}{6,}` },
  { begins: ['npm_'], glance: 'pm_', rest: '[A-Za-z0-9]{20,}' },
  { begins: ['pypi-'], glance: 'ypi', rest: `${WORD}{16,}` },
  { begins: ['hf_'], glance: 'hf_', rest: '[A-Za-z0-9]{10,}' },
  { begins: ['SG.'], glance: 'SG.', rest: String.raw`${WORD}{6,}(?:\.${WORD}*)?` },
  { begins: ['doo_v1_', 'dop_v1_', 'dor_v1_'], glance: '_v1', rest: '[A-Za-z0-9]{6,}' },
  { begins: ['dckr_pat_', 'dckr_oat_'], glance: 'ckr', rest: `${WORD}{8,}` },
  { begins: ['hvs.', 'hvb.', 'hvr.'], glance: 'hvs hvb hvr', rest: `${WORD}{8,}` },
  { begins: ['lin_api_', 'lin_oauth_'], glance: 'n_a n_o', rest: '[A-Za-z0-9]{8,}' },
  { begins: ['HRKU-'], glance: 'HRK', rest: `${WORD}{10,}` },
  { begins: ['AGE-SECRET-KEY-'], glance: 'E-S', rest: '[0-9A-Z]{8,}' },
  { begins: ['shpat_', 'shpca_', 'shppa_', 'shpss_'], glance: 'shp', rest: '[A-Za-z0-9]{8,}' },
  { begins: ['sntrys_', 'sntryu_'], glance: 'rys ryu', rest: '[A-Za-z0-9_=+/-]{10,}' },
  {
    begins: ['pul-', 'fly0_', 'nfp_', 'figd_', 'ntn_', 'sbp_', 'glsa_'],
    glance: 'ul- y0_ nfp igd ntn sbp lsa',
    rest: `${WORD}{16,}`,
  },
  // The head of a JSON Web Token stops where another could begin, or a row of heads would be read once from each of them.
  { begins: ['eyJ'], glance: 'eyJ', rest: String.raw`(?:(?!eyJ)${WORD}){8,}\.${WORD}{8,}\.${WORD}*`, isAnywhere: true },
  {
    begins: ['-----BEGIN'],
    glance: '---',
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
