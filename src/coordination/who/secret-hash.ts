// What the store has of a session's secret: SHA-256 in hex, and nothing else may stand in its place.

const SECRET_HASH = /^[0-9a-f]{64}$/

export const isSecretHash = (text: string): boolean => SECRET_HASH.test(text)
