import { createColors } from 'picocolors';

export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
}

export const createPaint = (color: boolean): Paint => createColors(color);
