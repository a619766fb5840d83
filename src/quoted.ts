// A text as one word of a command line that a shell reads as it was meant. Pure.

/** As it is where a shell would take it so, else in quotes. */
export const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : inQuotes(text))

/** For scripts, where every word looks alike. */
export const inQuotes = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
