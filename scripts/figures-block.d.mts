interface Figures {
  readonly versions: Readonly<Record<string, string>>
  readonly figures: readonly object[]
}

export const KEPT: string
export const FIGURE_PAGES: readonly { readonly page: string; readonly block: (kept: Figures) => string }[]
export const MARKS: { readonly begin: string; readonly end: string }
