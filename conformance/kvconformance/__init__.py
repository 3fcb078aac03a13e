"""kvconformance"""
