export { defineEntity } from './entity.js';
