import * as z from 'zod';
import { time } from './_shapes.ts';

export const fileId = z
  .string()
  .regex(/^file_[a-z0-9]{16}$/, 'must be file_ and 16 characters')
  .describe('File id, as file.send answered it.');

/** Room for files at the backend. */
export const filesUsage = z
  .object({
    usedBytes: z.int().describe('Bytes that ciphertext takes.'),
    maxBytes: z.int().describe('Bytes that it may take.'),
  })
  .describe('Room for all files.');

/** A file as it is stored: what it is called is sealed. */
export const storedFile = z.object({
  fileId: z.string().describe('File id.'),
  sessionId: z.string().describe('Session that sent it.'),
  machineId: z.string().describe('Machine that it was on.'),
  sizeBytes: z.int().describe('Size of the file, bytes.'),
  storedBytes: z.int().describe('Size of its ciphertext, bytes.'),
  sealed: z
    .string()
    .describe(
      "Name, type and message, encrypted with age to the account's recipient, in base64. `kaiwu file list` and the app show them.",
    ),
  createdAt: time('When it was sent'),
});
