"""Showing trees and solutions to people."""
